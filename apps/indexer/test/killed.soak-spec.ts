import { testSeeds } from '#libs/testing';
import { describeKilled } from './killed.support-spec.js';

describeKilled(20, testSeeds());
