import { type Texts } from './en';
import { redeemDe } from './redeem/de';

export const de: Texts = {
  shell: {
    main: 'Seite',
    language: 'Sprache',
    light: 'Helle Farben',
    dark: 'Dunkle Farben',
    home: 'Zur ersten Seite',
    notFound: 'Diese Seite gibt es nicht',
    notFoundMore:
      'Die Adresse ist vielleicht unvollständig, oder was sie zeigte, ist nicht mehr da.',
    retry: 'Noch einmal versuchen',
    crash: {
      title: 'Auf dieser Seite ist etwas schiefgegangen',
      more: 'Von dem, was dir gehört, ist nichts verloren. Geschieht es wieder, versuche es später.',
      reload: 'Neu laden',
    },
  },
  redeem: redeemDe,
};
