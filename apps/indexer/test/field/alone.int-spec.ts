import { describeQuirks } from './field-matrix.js';

describeQuirks('the only endpoint');
