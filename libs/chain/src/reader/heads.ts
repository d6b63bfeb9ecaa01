/** The newest block and the newest final one, as one node answers them. */
import { MalformedAnswerError, NodeBehindError } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcSession } from '../rpc/rpc-pool.js';
import {
  type FullHeader,
  headerCall,
  parseHeader,
  parseHeaderOf,
  tagCall,
} from '../shape/header.js';
import { type Finality } from './finality.js';

export interface AnsweredHeader {
  readonly header: FullHeader;
  /** The answer itself, with all its fields. */
  readonly answer: unknown;
}

export interface AnsweredHeads {
  readonly latest: AnsweredHeader;
  readonly finalised: AnsweredHeader;
}

/** @throws NodeBehindError where the node has no such block; MalformedAnswerError */
export async function readHeads(session: RpcSession, finality: Finality): Promise<AnsweredHeads> {
  const { endpoint } = session;
  const tags = finality.kind === 'tag' ? ['latest', finality.tag] : ['latest'];
  const { results } = await session.batch(tags.map(tagCall));
  const tagged = (index: number): AnsweredHeader => {
    const answer = valueOf(results[index]);
    const header = parseHeader(answer, endpoint);
    if (header) return { header, answer };
    throw new NodeBehindError(
      `has no ${tags[index] ?? ''} block; where the chain has none, set FINALITY=depth:<blocks>`,
      { endpoint },
    );
  };
  const latest = tagged(0);
  const finalised =
    finality.kind === 'tag'
      ? tagged(1)
      : await readHeader(session, below(latest.header.number, finality.blocks));
  if (finalised.header.number > latest.header.number) {
    throw new MalformedAnswerError('the final block is above the newest', session);
  }
  return { latest, finalised };
}

/** The block of this number. @throws NodeBehindError where the node does not have it; MalformedAnswerError */
export async function readHeader(session: RpcSession, number: bigint): Promise<AnsweredHeader> {
  const { endpoint } = session;
  const { results } = await session.batch([headerCall(number)]);
  const answer = valueOf(results[0]);
  const header = parseHeaderOf(answer, number, endpoint);
  if (header) return { header, answer };
  throw new NodeBehindError(`does not have block ${number.toString()}`, { endpoint });
}

function below(number: bigint, blocks: bigint): bigint {
  return number > blocks ? number - blocks : 0n;
}
