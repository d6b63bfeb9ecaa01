export { EVIDENCE_KEY, testEvidence } from './test-evidence.js';
