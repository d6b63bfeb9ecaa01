import { Command } from 'commander';
import { readSettings, refuseSharedEvidenceKey } from '#libs/config';
import { type UuidV7 } from '#libs/domain';
import { EvidenceKeys } from '#libs/signing';
import { AdoptSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOption } from '../operator/actor.js';
import { auditedText } from '../operator/audited-text.js';
import { runOperation } from '../redemption/operation-command.js';
import { redemptionId } from '../redemption/redemption-id.js';

/** `redemption set-partner-tx`: the deduction as the partner names it, so that it can be reverted. */
export function redemptionSetPartnerTxCommand(context: CommandContext): Command {
  const command = new Command('set-partner-tx')
    .description("give the partner's transaction id of the deduction; it is reverted then")
    .argument('<id>', 'the redemption', redemptionId)
    .argument('<transaction>', 'partnerTransactionId, exactly as the partner has it')
    .addOption(actorOption());
  return command.action(
    async (id: UuidV7, transaction: string, { as }: { readonly as?: string }) => {
      const { evidenceKey, secretsKey } = readSettings(AdoptSettings, context.source());
      if (secretsKey !== undefined) refuseSharedEvidenceKey(evidenceKey, secretsKey);
      await runOperation(
        context,
        { command, id, as },
        {
          event: { type: 'operator-set-transaction', partnerTransactionId: transaction },
          arguments: { transaction: auditedText(transaction) },
          seal: EvidenceKeys.parse(evidenceKey),
        },
      );
    },
  );
}
