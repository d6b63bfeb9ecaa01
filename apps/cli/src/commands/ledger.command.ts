import { InvalidArgumentError } from 'commander';
import { type KnownVault } from '#libs/db';
import { parseAddress } from '#libs/domain';
import {
  forgottenVaults,
  noteLedgerRestore,
  OptionError,
  restoreConsequence,
  restoreSummary,
  TTL_SECONDS,
  vouchersUntil,
} from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { type Call, command, type CommandGroup } from '../command.js';
import { AS, expecting, option, positiveInteger, required, YES } from '../options.js';

const VAULT_OPTION = /^(0x[0-9a-f]{40})(?::(\d{1,15}))?$/i;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z$/;

interface Given {
  readonly lostSince: number;
  readonly voucherTtl: number;
  readonly vault?: readonly KnownVault[];
}

const restored = command({
  name: 'restored',
  description: 'note that the ledger was restored from a backup, before the service runs again',
  options: [
    required(
      '--lost-since <time>',
      'the moment of the backup, such as 2026-03-01T02:00:00Z',
      expecting('a time in UTC such as 2026-03-01T02:00:00Z.', (text) => {
        const ms = MOMENT.test(text) ? Date.parse(text) : NaN;
        return Number.isNaN(ms) ? undefined : ms;
      }),
    ),
    required(
      '--voucher-ttl <seconds>',
      'the largest VOUCHER_TTL_SECONDS that the service has had since then',
      ttl,
    ),
    option(
      '--vault <address[:block]>',
      'each VAULT_CONTRACT, with its VAULT_START_BLOCK, that was set after the backup and is not the present one',
      vaultOption,
    ),
    YES,
    AS,
  ],
  settings: OperatorSettings,
  action: noteRestore,
});

export const ledgerCommands: CommandGroup = {
  name: 'ledger',
  description: 'the ledger of the redemptions as a whole',
  commands: [restored],
};

async function noteRestore(
  call: Call<OperatorSettings>,
  { lostSince: lostSinceMs, voucherTtl, vault: named = [] }: Given,
): Promise<void> {
  const nowMs = call.clock.nowMs();
  if (lostSinceMs > nowMs) throw new OptionError('--lost-since is later than now.');
  const forgotten = await forgottenVaults(named, call.source, call.clock);
  const note = { nowMs, lostSinceMs, voucherTtlSeconds: voucherTtl, forgotten };
  const noted = await call.withDatabase(async (database) => {
    await call.confirm(await restoreConsequence(database, note));
    return noteLedgerRestore(database, call.operator, note);
  });
  call.terminal.out(
    `Noted: ${restoreSummary(noted)}.\nPoints go back only after a final block is later than ${vouchersUntil(noted)}, and only if no vault has paid.\n`,
  );
}

function ttl(text: string): number {
  const seconds = positiveInteger(text);
  const { min, max } = TTL_SECONDS;
  if (seconds < min || seconds > max) {
    throw new InvalidArgumentError(`Expected ${min} to ${max} seconds.`);
  }
  return seconds;
}

/** Adds `ADDRESS` or `ADDRESS:START_BLOCK` to the list. */
function vaultOption(text: string, before: readonly KnownVault[] = []): KnownVault[] {
  const [, address = '', startBlock = '0'] = VAULT_OPTION.exec(text) ?? [];
  const vault = parseAddress(address);
  if (vault === undefined) {
    throw new InvalidArgumentError('Expected ADDRESS or ADDRESS:START_BLOCK.');
  }
  return [...before, { vault, startBlock: BigInt(startBlock) }];
}
