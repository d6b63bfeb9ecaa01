export { type Finding, type FindingState } from './checks.js';
export { examine, type ExamineOptions } from './examine.js';
