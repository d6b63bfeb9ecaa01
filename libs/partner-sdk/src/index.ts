export { ERROR_CODES, type ErrorCode } from './answers/answer-form.js';
export { expressCallbacks, type Middleware, type NodeRequest } from './adapters/node.js';
export { fastifyCallbacks, type FastifyCallbacksPlugin } from './adapters/fastify.js';
export { fetchCallbacks } from './adapters/fetch.js';
export {
  type CallbacksDynamicModule,
  type PartnerCallbacksFactory,
  PartnerCallbacksModule,
  type PartnerCallbacksSetup,
} from './adapters/nest.js';
export {
  type CallbackAnswer,
  type CallbackCall,
  type ExtraFields,
  type FailedCall,
  Refusal,
  type RefusedCall,
} from './callbacks/call.js';
export { type Callbacks, createCallbacks } from './callbacks/create-callbacks.js';
export {
  type CallbackHandlers,
  type CallbackOptions,
  type CallContext,
  type Confirmation,
  type Deduction,
  type DeductionDone,
  type PointsBalance,
  type PointsQuery,
  type Revert,
  type RevertDone,
} from './callbacks/handlers.js';
export { MemoryReplayStore, type ReplayStore } from './callbacks/authenticate.js';
export { InvalidResultError } from './callbacks/endpoints.js';
export { type Clock } from './clock.js';
export { type Credential } from './credential.js';
export { newRequestId, parseRequestId, requestIdMs } from './request-id.js';
export {
  canonicalJson,
  pathOf,
  sign,
  signedContent,
  type SignedMessage,
  verify,
  verifyJson,
} from './signing/signing.js';
export {
  ConnectionError,
  LowmarkApiError,
  SignatureError,
  TimeoutError,
  UnexpectedAnswerError,
} from './staking/errors.js';
export { type SnapshotsByWallet } from './staking/batch.js';
export { type DayQuery, type DaysQuery, type ProofQuery } from './staking/day-reader.js';
export { type DayLeaf, type DayProof, provenLow } from './staking/day-proof.js';
export { type SealedDay, type WalletDay } from './staking/days.js';
export { type DayWallet } from './staking/day-wallets.js';
export { type StakingHistory, type StakingInterval } from './staking/history.js';
export { type DailySnapshot, type StakingSnapshots } from './staking/snapshots.js';
export {
  type HistoryQuery,
  type SnapshotQuery,
  StakingClient,
  type StakingClientOptions,
} from './staking/staking-client.js';
export {
  type MessageExpectation,
  type MessageKeys,
  type ReceivedAnswer,
  verifyMessage,
} from './signing/message-signature.js';
export {
  type AnswersCorrectedEvent,
  type CorrectedFigure,
  type DaySealedEvent,
  type RedemptionEvent,
  type RedemptionStatus,
  type WebhookEvent,
  type WebhookTestEvent,
} from './webhooks/events.js';
export {
  verifyWebhook,
  WebhookError,
  type WebhookErrorCode,
  type WebhookHeaders,
} from './webhooks/verify-webhook.js';
