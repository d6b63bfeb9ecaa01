export { auditBlock } from './audit-block.js';
export { AuditImpossibleError } from './audit.error.js';
export { auditIndex } from './audit-index.js';
export { type AuditPace, type AuditParts } from './audit-parts.js';
export { type AuditResult } from './audit-result.js';
export { type IndexedContracts, indexedContracts } from './indexed-contracts.js';
export { agrees, requireComparison } from './verdict.js';
