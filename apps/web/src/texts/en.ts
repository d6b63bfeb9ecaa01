import { redeemEn } from './redeem/en';

/** The texts of the pages. Every other language has the same shape, which the compiler checks. */
export const en = {
  shell: {
    main: 'Page',
    language: 'Language',
    light: 'Light colours',
    dark: 'Dark colours',
    home: 'To the first page',
    notFound: 'There is no such page',
    notFoundMore: 'The address may be incomplete, or what it showed is gone.',
    retry: 'Try again',
    crash: {
      title: 'Something went wrong on this page',
      more: 'Nothing of yours is lost. If it happens again, try later.',
      reload: 'Reload',
    },
  },
  redeem: redeemEn,
};

export type Texts = typeof en;
