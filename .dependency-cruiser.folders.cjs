/** No circle between the folders of the core, seen without its tests. */
module.exports = {
  forbidden: [
    {
      name: 'no-circles-of-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...require('./.dependency-cruiser.cjs').options,
    exclude: { path: '[.-](spec|support)\\.ts$|^libs/testing/|/(test|testing)/' },
  },
};
