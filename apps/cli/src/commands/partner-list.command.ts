import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CallbackStore, type ListedPartner, type PartnerCallback, PartnerStore } from '#libs/db';
import { callbackFields, callbackJson } from '../callback/callback-text.js';
import { OperatorSettings } from '../cli.env.js';
import { rateField } from '../callback/rate-options.js';
import { type CommandContext } from '../command-context.js';
import { type Field, fieldLines } from '../output/fields.js';
import { jsonLine } from '../output/json-line.js';
import { moment } from '../output/moments.js';
import { printable } from '../output/printable.js';
import { withDatabase } from '../with-database.js';

/** `partner list`: everything about the partners but their secrets. */
export function partnerListCommand({ source, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list the partners with their credentials and callbacks; never a secret')
    .option('--json', 'print one line of JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      const settings = readSettings(OperatorSettings, source());
      const { partners, callbacks } = await withDatabase(
        settings.databaseUrl,
        async (database) => ({
          partners: await new PartnerStore(database).list(),
          callbacks: await new CallbackStore(database).list(),
        }),
      );
      const callbackOf = ({ partnerId }: ListedPartner): PartnerCallback | undefined =>
        callbacks.find((one) => one.partnerId === partnerId);
      terminal.out(
        json === true
          ? jsonLine(partners.map((partner) => partnerJson(partner, callbackOf(partner))))
          : partners.map((partner) => partnerText(partner, callbackOf(partner))).join('\n') ||
              'There are no partners: `partner create` makes one.\n',
      );
    });
}

function partnerText(partner: ListedPartner, callback: PartnerCallback | undefined): string {
  const credentials = partner.credentials.map((credential): Field => {
    const { keyPrefix, createdAt, revokedAt, lastUsedAt } = credential;
    const revoked = revokedAt === null ? '' : `, revoked ${moment(revokedAt) ?? ''}`;
    const used = `last used ${moment(lastUsedAt) ?? 'never'}`;
    return ['credential', `${keyPrefix}…  created ${moment(createdAt) ?? ''}, ${used}${revoked}`];
  });
  const paused: Field = ['redemptions', callback && standingOf(callback)];
  const fields: Field[] = [
    ['id', partner.partnerId],
    ['created', moment(partner.createdAt)],
    rateField(partner),
    ...credentials,
    ...(callback === undefined
      ? [['callback', 'none: nothing can be redeemed with it'] as const]
      : [...callbackFields(callback), paused]),
  ];
  return `${printable(partner.partnerName)}\n${fieldLines(fields, '  ')}`;
}

function standingOf({ paused, dailyTokenBudget }: PartnerCallback): string {
  if (paused) return 'PAUSED';
  return dailyTokenBudget === undefined ? 'REFUSED: no daily token budget' : 'open';
}

function partnerJson(partner: ListedPartner, callback: PartnerCallback | undefined): object {
  const { partnerId: id, partnerName: name, createdAt, rate, burst, credentials } = partner;
  return {
    id,
    name,
    createdAt,
    rate,
    burst,
    credentials,
    callback: callback === undefined ? null : callbackJson(callback),
  };
}
