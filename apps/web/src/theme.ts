import { createTheme } from '@mantine/core';

/** The font of the system: nothing is loaded for it. */
export const theme = createTheme({
  primaryColor: 'cyan',
  // 4.5:1 on white and on the dark background: WCAG 2.2, 1.4.3.
  primaryShade: 9,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  respectReducedMotion: true,
});
