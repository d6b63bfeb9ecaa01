/** The planted faults fit the code of today; planted-faults.soak-spec.ts shows that the simulations find them. */
import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { plantedFaults } from './planted-faults.js';

it.each(plantedFaults)('the patch of $name applies', ({ patch }) => {
  const { stderr } = spawnSync('git', ['apply', '--check', patch], { encoding: 'utf8' });
  expect(stderr).toBe('');
});
