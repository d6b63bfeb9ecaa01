export { AnswerKeys, type PublicAnswerKey } from './answer-keys.js';
export { EvidenceKeys } from './evidence-keys.js';
export { hmacSha256Hex, pathOf, signedContent, verifySignature } from './hmac.js';
export { KeyRing, mintSecretsKey, sealingKeyId } from './key-ring.js';
export { isGrant, mintGrant, openGrant } from './grant.js';
export {
  AcceptSignatureError,
  type MessageSignatureHeaders,
  parseAcceptSignature,
  signAnswer,
  type SignedBody,
  type SigningContext,
  type WantedSignature,
} from './message-signature.js';
export {
  hashApiKey,
  hashToken,
  isApiKey,
  mintCredential,
  type MintedCredential,
  mintWebhookSecret,
  newToken,
  webhookSealContext,
} from './minted-secrets.js';
