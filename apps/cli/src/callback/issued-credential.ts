import { jsonLine } from '../output/json-line.js';

/** What a partner is handed once. */
export interface IssuedCredential {
  readonly partnerId: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
}

export function issuedText(issued: IssuedCredential, asJson: boolean): string {
  const { partnerId, apiKey, sharedSecret } = issued;
  if (asJson) return jsonLine({ partnerId, apiKey, sharedSecret });
  return [
    `partner        ${partnerId}`,
    `API key        ${apiKey}`,
    `shared secret  ${sharedSecret}`,
    '',
    'Hand both over by a safe way: they cannot be shown again.',
    '',
  ].join('\n');
}
