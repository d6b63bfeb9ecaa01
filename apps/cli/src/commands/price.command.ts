import { Command } from 'commander';
import { type CommandContext } from '../command-context.js';
import { priceAcceptCommand } from './price-accept.command.js';
import { priceShowCommand } from './price-show.command.js';

export function priceCommand(context: CommandContext): Command {
  return new Command('price')
    .description('the price of the token, and one that is held until you accept it')
    .addCommand(priceShowCommand(context))
    .addCommand(priceAcceptCommand(context));
}
