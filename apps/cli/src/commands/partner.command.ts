import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { partnerCreateCommand } from './partner-create.command.js';
import { partnerListCommand } from './partner-list.command.js';
import { partnerPauseCommand } from './partner-pause.command.js';
import { partnerPingCommand } from './partner-ping.command.js';
import { partnerRevokeCommand } from './partner-revoke.command.js';
import { partnerRotateCommand } from './partner-rotate.command.js';
import { partnerSetCommand } from './partner-set.command.js';

export function partnerCommand(context: CommandContext): Command {
  return new Command('partner')
    .description('partners, their credentials and their callbacks')
    .addCommand(partnerCreateCommand(context))
    .addCommand(partnerSetCommand(context))
    .addCommand(partnerListCommand(context))
    .addCommand(partnerRotateCommand(context))
    .addCommand(partnerRevokeCommand(context))
    .addCommand(partnerPauseCommand(context, 'pause'))
    .addCommand(partnerPauseCommand(context, 'resume'))
    .addCommand(partnerPingCommand(context));
}
