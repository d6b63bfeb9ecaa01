import { describeQuirks } from './field-matrix.js';

describeQuirks('the second of two');
