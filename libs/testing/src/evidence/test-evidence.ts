import { EvidenceKeys } from '#libs/signing';

/** For the services under test. */
export const EVIDENCE_KEY = Buffer.alloc(32, 0xe5).toString('base64');

/** What a service with that key makes its MACs with. */
export function testEvidence(): EvidenceKeys {
  return EvidenceKeys.parse(EVIDENCE_KEY);
}
