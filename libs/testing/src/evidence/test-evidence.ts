import { EvidenceKeys } from '#libs/signing';

/** The `EVIDENCE_KEY` of the services under test. */
export const EVIDENCE_KEY = Buffer.alloc(32, 0xe5).toString('base64');

/** The keys with which a service that is given `EVIDENCE_KEY` makes its MACs. */
export function testEvidence(): EvidenceKeys {
  return EvidenceKeys.parse(EVIDENCE_KEY);
}
