import { testSeeds } from '#libs/testing';
import { describeStandby } from './standby.support-spec.js';

describeStandby(1, testSeeds().slice(0, 1));
