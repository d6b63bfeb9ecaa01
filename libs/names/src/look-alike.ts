import unhomoglyph from 'unhomoglyph';

/**
 * Two names with the same key look alike: the skeleton of Unicode TR39 (https://www.unicode.org/reports/tr39/, section
 * 4), with capitals like small letters. `i` counts as `l`, since a capital `I` looks like it.
 */
export function lookAlikeKey(name: string): string {
  // Capitals first, as they are read: the capital Cyrillic В looks like B, and the small one like no Latin letter.
  return skeleton(skeleton(name).toLowerCase()).toLowerCase().replaceAll('i', 'l');
}

function skeleton(text: string): string {
  return unhomoglyph(text.normalize('NFD')).normalize('NFD');
}
