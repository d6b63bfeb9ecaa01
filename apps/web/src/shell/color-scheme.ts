import { localStorageColorSchemeManager, type MantineColorSchemeManager } from '@mantine/core';
import { tellConsole } from './tell-console';

const kept = localStorageColorSchemeManager();

/** Light or dark, as it was chosen; all tabs have the same. */
export const keptColorScheme: MantineColorSchemeManager = {
  ...kept,
  set(scheme) {
    kept.set(scheme);
    tellConsole('lowmark-scheme', scheme);
  },
};
