import { describeQuirks } from './field-matrix.js';

describeQuirks('the first of two');
