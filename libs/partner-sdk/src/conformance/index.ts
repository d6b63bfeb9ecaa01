export { CHECKS, type CheckId } from './checks/all-checks.js';
export { CAPABILITIES, type Capability, type Check, type Severity } from './checks/check.js';
export { type Left, type Report, type ReportedCheck } from './report/report.js';
export { type ReportedExchange } from './report/reported-exchange.js';
export { type ConformanceOptions, OptionsError, type Progress } from './run/options.js';
export {
  type DeductionJournal,
  type DeductionTerms,
  type JournalEntry,
} from './run/deduction-ledger.js';
export { giveBack, runConformance } from './run/run-conformance.js';
export { type Unresolved } from './run/revert-open.js';
export {
  explainSignature,
  explainSignatureInTurns,
  LONGEST_QUESTION_BODY,
  LONGEST_QUESTION_BYTES,
  type SignatureExplanation,
  type SignatureQuestion,
} from '../signing/explain-signature.js';
export { HashBudget } from '../signing/hash-budget.js';
