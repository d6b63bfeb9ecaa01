import { type Command } from 'commander';
import { type RateLimits } from '#libs/db';
import { type Field } from '../output/fields.js';
import { positiveInteger } from './number-parsers.js';

/** How much a partner may ask of the api; the words are those of `partner create`. */
export function addRateOptions(command: Command, defaults: Partial<RateLimits> = {}): Command {
  return command
    .option('--rate <requests>', 'requests per second', positiveInteger, defaults.rate)
    .option('--burst <requests>', 'requests at once', positiveInteger, defaults.burst);
}

export function rateField({ rate, burst }: RateLimits): Field {
  return ['requests', `${rate} a second, ${burst} at once`];
}
