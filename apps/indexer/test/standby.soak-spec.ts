import { testSeeds } from '#libs/testing';
import { describeStandby } from './standby.support-spec.js';

describeStandby(3, testSeeds());
