import { describeQuirks } from './field-matrix.js';

describeQuirks('both of two');
