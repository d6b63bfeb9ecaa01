/** Whether a chain can run the vault's bytecode, asked before anything is sent. */
import { PermanentError, RetryableError } from '#libs/domain';

type Hex = `0x${string}`;

/** An error that a node answered with. */
export interface NodeRefusal {
  /** Holds no secret. */
  readonly text: string;
  /** It speaks of the program that was run, not of the request. */
  readonly isRevert: boolean;
}

/** @returns undefined where the call succeeds. @throws where the node cannot be asked */
export type CallWithoutTo = (data: Hex) => Promise<NodeRefusal | undefined>;

/** STOP: creates nothing, and fails only where the form is refused. */
const EMPTY_PROGRAM = '0x00';

/** What solc uses for `evmVersion: cancun`, and what the vault's guard against re-entry is made of (EIP-1153). */
const OPCODES: readonly { readonly name: string; readonly upgrade: string; readonly code: Hex }[] =
  [
    { name: 'PUSH0', upgrade: 'Shanghai', code: '0x5f00' },
    { name: 'MCOPY', upgrade: 'Cancun', code: '0x6000600060005e00' },
    { name: 'TLOAD', upgrade: 'Cancun', code: '0x60005c00' },
    { name: 'TSTORE', upgrade: 'Cancun', code: '0x600060005d00' },
  ];

/**
 * zksync-era (core/lib/types/src/transaction_request.rs): a transaction without `to` creates a contract of EVM bytecode, and is refused
 * so where the chain has no EVM emulator.
 */
const TO_REQUIRED = /toaddressisnull|to.?address is null|missing (?:field )?[`'"]to[`'"]/i;

/**
 * Every opcode is tried: a chain of before Cancun may take the deployment, and the vault's first claim would fail.
 * @throws PermanentError VAULT_CHAIN_UNSUITABLE; RetryableError where the node cannot tell
 */
export async function requireSuitableChain(chainId: number, call: CallWithoutTo): Promise<void> {
  const refusal = await call(EMPTY_PROGRAM);
  if (refusal !== undefined) {
    // Some nodes refuse the form and yet take deployments: the estimate that follows decides.
    refuseWhereToIsRequired(chainId, refusal);
    return;
  }
  for (const { name, upgrade, code } of OPCODES) {
    const failure = await call(code);
    if (failure === undefined) continue;
    if (!failure.isRevert) {
      throw new RetryableError('VAULT_DEPLOYMENT_FAILED', `eth_call failed: ${failure.text}`);
    }
    throw unsuitable(
      `Chain ${chainId} does not know the opcode ${name} (${upgrade}), which the vault uses. Nothing was sent. The vault needs a chain with the Cancun upgrade of Ethereum.`,
    );
  }
}

/** @throws PermanentError VAULT_CHAIN_UNSUITABLE where that is what the node says */
export function refuseWhereToIsRequired(chainId: number, { text }: NodeRefusal): void {
  if (!TO_REQUIRED.test(text)) return;
  throw unsuitable(
    `Chain ${chainId} takes no EVM bytecode: it is a ZK Stack chain without the EVM emulator. Nothing was sent. Compile contracts/src/RedemptionVaultV2.sol with zksolc and deploy that with the chain's own tools; docs/operating/chains.md says how.`,
  );
}

function unsuitable(message: string): PermanentError {
  return new PermanentError('VAULT_CHAIN_UNSUITABLE', message);
}
