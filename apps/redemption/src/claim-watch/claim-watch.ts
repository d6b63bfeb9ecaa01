/**
 * Detects a theft within minutes: reads the claims of every vault up to the newest block, compares them with what was
 * authorised, and pauses the vault where nothing authorised a claim. One process at a time does so; its cursor is in
 * the database. Blocks that are not final yet are read again at the next check. The daily reconciliation compares the
 * books as a whole, whatever was found here.
 */
import { Inject, Injectable } from '@nestjs/common';
import {
  ClaimReader,
  ExecutionRevertedError,
  GasRefusedError,
  isPausedByAll,
  redemptionIdOf,
  RpcPool,
  type ShownClaim,
  type VaultAccount,
} from '#libs/chain';
import { type ClaimAlarm, ClaimWatchStore, type WatchedVault } from '#libs/db';
import { type Address, LowmarkError, PermanentError } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { Alerts } from '../observe/alerts.js';
import { gasAlert, VaultAccounts } from '../payout/vault-accounts.js';
import { RedemptionSettings } from '../redemption.env.js';

const FAULTS: Readonly<Record<ClaimAlarm['kind'], string>> = {
  'without-row': 'no redemption has this id',
  unpayable: 'the redemption was not authorised, or its points went back',
  different: 'the plan names another amount, recipient or vault',
};

@Injectable()
export class ClaimWatch {
  private readonly reader: ClaimReader;

  constructor(
    private readonly settings: RedemptionSettings,
    private readonly pool: RpcPool,
    private readonly store: ClaimWatchStore,
    private readonly accounts: VaultAccounts,
    private readonly alerts: Alerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.reader = new ClaimReader(pool, settings.finality);
  }

  /**
   * @returns the unauthorised claims found now, whose alerts were raised; undefined where another process checks
   * @throws the signal's reason; AllEndpointsFailedError, DatabaseUnavailableError and others, after the other vaults
   *   were checked
   */
  async check(signal = new AbortController().signal): Promise<readonly ClaimAlarm[] | undefined> {
    const held = await this.store.exclusively((lease) =>
      this.checkAll(AbortSignal.any([signal, lease])),
    );
    return held?.result;
  }

  private async checkAll(signal: AbortSignal): Promise<readonly ClaimAlarm[]> {
    const { store } = this;
    const { vaultPlace: place, vaultStartBlock: startBlock } = this.settings;
    const found: ClaimAlarm[] = [];
    const failures: LowmarkError[] = [];
    for (const watched of await store.vaults(place, startBlock)) {
      try {
        found.push(...(await this.checkVault(watched, signal)));
      } catch (error) {
        if (signal.aborted || !(error instanceof LowmarkError)) throw error;
        failures.push(error);
      }
    }
    for (const vault of await store.toPause(place.chainId)) await this.pause(vault);
    const [failure] = failures;
    if (failure) throw failure;
    return found;
  }

  private async checkVault(
    { vault, nextBlock: from }: WatchedVault,
    signal: AbortSignal,
  ): Promise<ClaimAlarm[]> {
    const { reader, store, clock } = this;
    const { chainId } = this.settings;
    const { claims, finalised, isComplete } = await reader.read({ vault, from }, signal);
    const alarms = await store.record({
      chainId,
      vault,
      claims: claims.map(({ event }) => ({
        ...event,
        redemptionId: redemptionIdOf(event.vaultId),
      })),
      nextBlock: isComplete ? finalised + 1n : from,
      nowMs: clock.nowMs(),
    });
    for (const alarm of alarms) this.raise(vault, alarm, claims);
    return alarms;
  }

  /** Raises the most severe alert: tokens have left the vault, and no redemption authorised the claim. */
  private raise(vault: Address, alarm: ClaimAlarm, claims: readonly ShownClaim[]): void {
    const { vaultId, transactionHash, redemptionId, kind, state, mayBeLost } = alarm;
    const of = claims.filter(
      ({ event }) => event.vaultId === vaultId && event.transactionHash === transactionHash,
    );
    const what = of.map(({ event: { amount, recipient, signer, block } }) =>
      [
        `${amount.toString()} of the token's smallest unit to ${recipient}`,
        `signed by ${signer}`,
        `in block ${block.number.toString()}`,
      ].join(', '),
    );
    const missed = [...new Set(of.flatMap(({ missedBy }) => missedBy))];
    const shown = [...new Set(of.flatMap(({ shownBy }) => shownBy))];
    this.alerts.raise({
      severity: 'critical',
      code: 'claim-unauthorised',
      ...(redemptionId !== undefined && { redemptionId }),
      detail: [
        `${vault} paid ${what.join('; ')} (transaction ${transactionHash}, id ${vaultId})`,
        `${FAULTS[kind]}${state === null ? '' : ` (${state})`}`,
        ...(missed.length > 0
          ? [`${shown.join(', ')} shows it and ${missed.join(', ')} does not: one of them is wrong`]
          : []),
        ...(mayBeLost ? ['a restored ledger lacks the redemptions of that time: no pause'] : []),
      ].join('; '),
    });
  }

  /**
   * Pauses the vault once for each claim: an administrator who unpauses it afterwards knows of the claim. No
   * transaction is signed for a contract that only the database names: with a forged alarm the service would pay for
   * whatever that contract does.
   */
  private async pause(vault: Address): Promise<void> {
    const { alerts } = this;
    const { pauser } = this.accounts;
    const { vaultContract: own } = this.settings;
    try {
      if (await this.isPaused(vault)) return;
      if (pauser && vault !== own) {
        throw new PermanentError('VAULT_NOT_OWN', 'it is not VAULT_CONTRACT');
      }
      if (pauser) await this.sendPause(pauser, vault);
    } catch (error) {
      if (!(error instanceof LowmarkError)) throw error;
      const account = pauser?.address ?? vault;
      if (error instanceof GasRefusedError) {
        alerts.raise(gasAlert(error, { what: `the pause of ${vault}`, account }));
      } else {
        const reason =
          error instanceof ExecutionRevertedError
            ? `it refuses ${account}, which lacks PAUSER_ROLE, or an endpoint says so wrongly`
            : error.message;
        const detail = `${vault} could not be paused: ${reason}. Pause it by hand.`;
        alerts.raise({ severity: 'critical', code: 'vault-not-paused', detail });
      }
    }
  }

  /** The vault refuses the call if an earlier pause came into a block in the meantime. That is no failure. */
  private async sendPause(pauser: VaultAccount, vault: Address): Promise<void> {
    try {
      const endpoints = await pauser.pause(vault);
      this.logger.warn({ vault, endpoints }, 'Pausing the vault');
    } catch (error) {
      if (!(error instanceof ExecutionRevertedError) || !(await this.isPaused(vault))) throw error;
    }
  }

  /** Records the pause of a paused vault. @throws ExecutionRevertedError if the address is no vault */
  private async isPaused(vault: Address): Promise<boolean> {
    const { pool, store, clock, logger } = this;
    if (!(await isPausedByAll(pool, vault))) return false;
    await store.paused(this.settings.chainId, vault, clock.nowMs());
    logger.warn({ vault }, 'The vault is paused');
    return true;
  }
}
