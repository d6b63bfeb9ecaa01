import { testSeeds } from '#libs/testing';
import { describeKilled } from './killed.support-spec.js';

describeKilled(3, testSeeds().slice(0, 1));
