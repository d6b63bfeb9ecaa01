import {
  deployStaking,
  type DevChain,
  type DevChainOptions,
  launchDevChain,
  type StakingDeployment,
  StakingPlayer,
} from '#libs/devchain';

/** A local chain with the staking contracts deployed. */
export interface TestChain extends DevChain {
  readonly contracts: StakingDeployment;
  readonly player: StakingPlayer;
}

export type TestChainOptions = DevChainOptions & {
  /** Unix time in seconds: the timestamp of the contracts' blocks (1 to 3), and by default of block 0. */
  readonly deployedSeconds: number;
};

/**
 * Starts a local chain with a random chain id. It mines only on request, and any address can stake on it. Call `stop()`
 * after the tests; the chain also ends with the test process, even if that is killed.
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
