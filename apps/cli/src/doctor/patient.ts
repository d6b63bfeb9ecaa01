import { type RpcPool } from '#libs/chain';
import { type Subject } from './subject.js';

/** One endpoint under examination. */
export interface Patient {
  readonly subject: Subject;
  readonly pool: RpcPool;
  /** Its host and its place in RPC_URLS: never its URL. */
  readonly endpoint: string;
  /** `rpc 127.0.0.1:8545#1` */
  readonly name: string;
}
