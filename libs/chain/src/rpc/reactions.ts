/** What a question does after each kind of failure. Pure. */
import {
  AnswersDifferError,
  EndpointLeftOutError,
  LogsWithheldError,
  MalformedAnswerError,
  NodeBehindError,
  OverloadedError,
  RateLimitedError,
  type RpcError,
  RpcRefusedError,
  RpcTimeoutError,
  TransportError,
  UnreachableError,
} from './rpc.errors.js';

export interface Reaction {
  /** How often the request is sent again to the same endpoint. */
  readonly resend: 'while patient' | 'once' | 'never';
  /** The next request to the endpoint is likely to fail as well, so another endpoint is asked at once. */
  readonly leaves: boolean;
  /** The endpoint is asked the whole question again, a few times. */
  readonly reask: boolean;
  /** The endpoint was reached and gave no whole answer, which some endpoints do with every batch. */
  readonly isBroken: boolean;
  /** When a failed question sets the endpoint aside. */
  readonly setsAside: 'always' | 'if there is another' | 'never';
}

const REFUSED: Reaction = {
  resend: 'never',
  leaves: false,
  reask: false,
  isBroken: false,
  setsAside: 'never',
};
const NO_ANSWER: Reaction = { ...REFUSED, resend: 'while patient' };
const CHANGES_SOON: Reaction = { ...REFUSED, reask: true, setsAside: 'always' };

interface Row {
  readonly is: (error: RpcError) => boolean;
  readonly reaction: Reaction;
}

/** The first row that fits counts. An error without a row is an answer that a retry does not change. */
const ROWS: readonly Row[] = [
  // It is a TransportError too, and no request was sent.
  { is: (error) => error instanceof EndpointLeftOutError, reaction: REFUSED },
  {
    is: (error) => error instanceof RpcTimeoutError,
    reaction: { ...NO_ANSWER, leaves: true, isBroken: true },
  },
  {
    is: (error) => error instanceof UnreachableError,
    reaction: { ...NO_ANSWER, leaves: true },
  },
  {
    is: (error) => isRefusedByStatus(error) && error.sizeMayExplain,
    reaction: { ...NO_ANSWER, leaves: true },
  },
  // Some gateways send 400, 402 or 403 now and then: one more request shows whether it is for good.
  {
    is: isRefusedByStatus,
    reaction: { ...REFUSED, resend: 'once', leaves: true, isBroken: true },
  },
  {
    is: (error) => error instanceof RpcRefusedError && error.httpStatus === 400,
    reaction: { ...REFUSED, resend: 'once', isBroken: true },
  },
  {
    is: (error) => error instanceof TransportError && !(error instanceof OverloadedError),
    reaction: { ...NO_ANSWER, isBroken: true },
  },
  {
    is: (error) =>
      error instanceof OverloadedError ||
      error instanceof RateLimitedError ||
      (error instanceof RpcRefusedError && error.sizeMayExplain),
    reaction: NO_ANSWER,
  },
  {
    is: (error) => error instanceof MalformedAnswerError,
    reaction: { ...CHANGES_SOON, resend: 'while patient', isBroken: true },
  },
  {
    is: (error) => error instanceof NodeBehindError || error instanceof AnswersDifferError,
    reaction: CHANGES_SOON,
  },
  {
    is: (error) => error instanceof LogsWithheldError,
    reaction: { ...REFUSED, setsAside: 'if there is another' },
  },
];

export function reactionTo(error: RpcError): Reaction {
  return ROWS.find(({ is }) => is(error))?.reaction ?? REFUSED;
}

/**
 * Whether a retry soon is useless: nothing answers at the address, or an HTTP status such as 401 rejects every request.
 */
export function isClosed(error: RpcError): boolean {
  return error instanceof UnreachableError || isRefusedByStatus(error);
}

function isRefusedByStatus(error: RpcError): boolean {
  const { rpcCode = 0 } = error instanceof RpcRefusedError ? error : {};
  return rpcCode >= 300 && rpcCode < 600 && rpcCode !== 400;
}
