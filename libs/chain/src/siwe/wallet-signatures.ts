import { erc6492SignatureValidatorAbi, erc6492SignatureValidatorByteCode } from 'viem';
import { encodeDeployData, hashMessage, recoverAddress } from 'viem/utils';
import { type Address } from '#libs/domain';
import { ExecutionRevertedError, MalformedAnswerError } from '../errors/rpc.errors.js';
import { valueOf } from '../rpc/rpc-call.js';
import { type RpcPool } from '../rpc/rpc-pool.js';
import { bytes, toQuantity } from '../shape/hex.js';

/** An account's own signature: r, s and v. */
const ACCOUNT_SIGNATURE = /^0x[0-9a-f]{130}$/i;
/** What is called is a stranger's contract; a signature that costs more to check is no signature. */
const GAS = 10_000_000;

/**
 * Whether a wallet signed a text (EIP-191). An account's signature is recovered here; all else is left to the chain in one
 * `eth_call` of the validator of EIP-6492, which asks a contract wallet (EIP-1271), deploying it for that call where it does not
 * exist yet. The pool should serve nothing else: what strangers let it call may make a node slow to answer.
 */
export class WalletSignatures {
  constructor(private readonly pool: RpcPool) {}

  /** @see RpcPool.verifyChainId */
  verifyChainId(expected: number): Promise<void> {
    return this.pool.verifyChainId(expected);
  }

  /**
   * @param signature `0x` and hex digits; false where it is anything else
   * @throws AllEndpointsFailedError where the chain would have to say and cannot be asked
   */
  async isSignedBy(wallet: Address, text: string, signature: string): Promise<boolean> {
    const data = bytes(signature);
    if (data === undefined || data === '0x') return false;
    const hash = hashMessage(text);
    if (ACCOUNT_SIGNATURE.test(data) && (await recovered(hash, data)) === wallet) return true;
    const validation = encodeDeployData({
      abi: erc6492SignatureValidatorAbi,
      bytecode: erc6492SignatureValidatorByteCode,
      args: [wallet as `0x${string}`, hash, data],
    });
    return this.pool.run(async (session) => {
      const { results } = await session.batch([
        { method: 'eth_call', params: [{ data: validation, gas: toQuantity(GAS) }, 'latest'] },
      ]);
      const [result] = results;
      if (result?.ok === false && result.error instanceof ExecutionRevertedError) return false;
      const answer = bytes(valueOf(result));
      if (answer === undefined || answer === '0x') {
        throw new MalformedAnswerError('a signature is neither valid nor invalid', session);
      }
      return BigInt(answer) === 1n;
    });
  }
}

/** In lower case; undefined where no account can have made it. */
async function recovered(
  hash: `0x${string}`,
  signature: `0x${string}`,
): Promise<string | undefined> {
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase();
  } catch {
    // A contract wallet's signature may be of the same length.
    return undefined;
  }
}
