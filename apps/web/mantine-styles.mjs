/**
 * Adds to each Mantine component in use the import of its own styles, so that they are in the component's chunk. The
 * styles are in a cascade layer, so that the app's own styles prevail in any order of loading.
 */
export const mantineStyles = {
  name: 'mantine-styles',
  transform(code, id) {
    const [, name] = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    return { code: `import '@mantine/core/styles/${name}.layer.css';\n${code}`, map: null };
  },
};
