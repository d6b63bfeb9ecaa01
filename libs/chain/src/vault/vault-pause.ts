import { encodeFunctionData } from 'viem/utils';
import { type Address } from '#libs/domain';
import { redemptionVaultAbi } from '../abi/redemption-vault.generated.js';
import { AllEndpointsFailedError } from '../errors/rpc.errors.js';
import { ethCall } from '../reader/pinned-calls.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool } from '../rpc/rpc-pool.js';

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
