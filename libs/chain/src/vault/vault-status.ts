import { encodeFunctionData, toFunctionSelector } from 'viem/utils';
import { type Address, type BlockRef, type VaultStatus } from '#libs/domain';
import { redemptionVaultAbi } from '../abi/redemption-vault.generated.js';
import {
  AllEndpointsFailedError,
  MalformedAnswerError,
  StateUnavailableError,
} from '../errors/rpc.errors.js';
import { CALLS_AT_ONCE, ethCall, type PinnedCalls } from '../reader/pinned-calls.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool, type RpcSession } from '../rpc/rpc-pool.js';
import { type VaultId } from './vault-event.js';

/** In the order of the contract's `Status`. */
const STATUSES: readonly VaultStatus[] = ['none', 'claimed', 'cancelled'];
const TOKEN = toFunctionSelector('token()');

interface VaultStatusContext {
  readonly calls: PinnedCalls;
  readonly vault: Address;
  readonly token: Address;
}

/**
 * The status of each redemption at the end of exactly this block, in the order of the ids. Together with every batch of them the
 * vault must tell its token: silence of an address without a vault would look like NONE.
 * @throws NodeBehindError, StateUnavailableError, MalformedAnswerError, ExecutionRevertedError
 */
export async function readVaultStatuses(
  session: RpcSession,
  ids: readonly VaultId[],
  block: BlockRef,
  { calls, vault, token }: VaultStatusContext,
): Promise<VaultStatus[]> {
  const { endpoint } = session;
  const each = CALLS_AT_ONCE - 1;
  const statuses: VaultStatus[] = [];
  for (let at = 0; at < ids.length; at += each) {
    const data = [TOKEN, ...ids.slice(at, at + each).map(statusCalldata)];
    const [itsToken, ...words] = await calls.read(
      session,
      data.map((one) => ({ to: vault, data: one })),
      block,
    );
    if (itsToken !== BigInt(token)) {
      // At that block it never will: another endpoint may, this one is not asked again.
      throw new StateUnavailableError(
        `knows no vault of token ${token} at ${vault} in block ${block.number.toString()}`,
        { endpoint },
      );
    }
    for (const word of words) {
      const status = STATUSES[Number(word)];
      if (!status) throw new MalformedAnswerError('a status that does not exist', { endpoint });
      statuses.push(status);
    }
  }
  return statuses;
}

function statusCalldata(id: VaultId): `0x${string}` {
  return encodeFunctionData({ abi: redemptionVaultAbi, functionName: 'status', args: [id] });
}

/**
 * Whether the vault pays nothing at the newest block, by all endpoints that answer, and by two where there are two.
 * @throws ExecutionRevertedError where the address is no vault
 */
export async function isPausedByAll(pool: RpcPool, vault: Address): Promise<boolean> {
  const data = encodeFunctionData({ abi: redemptionVaultAbi, functionName: 'paused' });
  const answers: boolean[] = [];
  for (const only of pool.endpoints) {
    try {
      answers.push(
        await pool.run(
          async (session) => {
            const { results } = await session.batch([ethCall({ to: vault, data }, 'latest')]);
            const word = valueOf(results[0]);
            return typeof word === 'string' && word.length === 66 && BigInt(word) === 1n;
          },
          { only, patient: false },
        ),
      );
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError)) throw error;
    }
  }
  return answers.length >= Math.min(2, pool.endpoints.length) && answers.every(Boolean);
}
