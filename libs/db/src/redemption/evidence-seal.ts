/** EVIDENCE_KEY, as far as rows are concerned. */
export interface EvidenceSeal {
  mac(content: string): Buffer;
  verify(content: string, mac: Uint8Array | null): boolean;
}
