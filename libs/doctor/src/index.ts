export { type Finding, type FindingState } from './checks.js';
export { DoctorSettings } from './doctor.settings.js';
export { examine, type ExamineOptions } from './examine.js';
export { toldBy } from './rpc-question.js';
