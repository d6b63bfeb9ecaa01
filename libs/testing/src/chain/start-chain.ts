import {
  deployStaking,
  type DevChain,
  type DevChainOptions,
  launchDevChain,
  type StakingDeployment,
  StakingPlayer,
} from '#libs/devchain';

/** A local chain of a test with the contracts on it. */
export interface TestChain extends DevChain {
  readonly contracts: StakingDeployment;
  readonly player: StakingPlayer;
}

export type TestChainOptions = DevChainOptions & {
  /** The timestamp of the contracts' blocks (1 to 3) and of block 0 where nothing else is asked for; Unix seconds. */
  readonly deployedSeconds: number;
};

/**
 * Starts a chain with a random id, mining only when told to, on which any address can stake. `stop()` it after the tests;
 * it also ends with the test process, however that ends.
 */
export async function startChain(options: TestChainOptions): Promise<TestChain> {
  const { deployedSeconds } = options;
  const chain = await launchDevChain({
    genesisSeconds: deployedSeconds,
    autoImpersonate: true,
    ...options,
  });
  try {
    const contracts = await deployStaking(chain.rpc, deployedSeconds);
    return { ...chain, contracts, player: new StakingPlayer(chain.rpc, contracts) };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}
