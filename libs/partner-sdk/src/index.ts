export { expressCallbacks, type Middleware } from './adapters/express.js';
export { fastifyCallbacks, type FastifyCallbacksPlugin } from './adapters/fastify.js';
export { fetchCallbacks } from './adapters/fetch.js';
export {
  type CallbacksDynamicModule,
  type PartnerCallbacksFactory,
  PartnerCallbacksModule,
  type PartnerCallbacksSetup,
} from './adapters/nest.js';
export { type NodeRequest } from './adapters/node.js';
export { type FailedCall, type RefusedCall } from './callbacks/call-report.js';
export { type CallbackAnswer, type CallbackCall } from './callbacks/call.js';
export { type Callbacks, createCallbacks } from './callbacks/create-callbacks.js';
export { type CallbackHandlers, type CallContext } from './callbacks/handlers.js';
export { type CallbackOptions } from './callbacks/options.js';
export {
  type Confirmation,
  type Deduction,
  type DeductionDone,
  type PointsBalance,
  type PointsQuery,
  type Revert,
  type RevertDone,
} from './callbacks/payloads.js';
export { ERROR_CODES, type ErrorCode, type ExtraFields, Refusal } from './callbacks/refusal.js';
export { MemoryReplayStore, type ReplayStore } from './callbacks/replay-store.js';
export { InvalidResultError } from './callbacks/results.js';
export { type Clock } from './clock.js';
export { type Credential } from './credential.js';
export { newRequestId, parseRequestId, requestIdMs } from './request-id.js';
export { canonicalJson } from './signing/canonical-json.js';
export { sign, verify, verifyJson } from './signing/signature.js';
export { pathOf, signedContent, type SignedMessage } from './signing/signed-message.js';
export {
  ConnectionError,
  LowmarkApiError,
  SignatureError,
  TimeoutError,
  UnexpectedAnswerError,
} from './staking/errors.js';
export { type DailySnapshot, type StakingSnapshots } from './staking/snapshots.js';
export {
  type SnapshotQuery,
  StakingClient,
  type StakingClientOptions,
} from './staking/staking-client.js';
