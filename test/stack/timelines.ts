/** The second column of a timeline. */
export function stagesOf(timeline: string): string[] {
  return [...timeline.matchAll(/^ {4}\d\d:\d\d:\d\d {2}(.{12})/gm)]
    .map(([, stage = '']) => stage.trim())
    .filter((stage) => !['deducting', 'deducted', 'reverting', '…'].includes(stage));
}

export function pointsOf(timeline: string): number[] {
  const shown = timeline.matchAll(/ points +([\d,]+) at /g);
  return [...shown].map(([, points = '']) => Number(points.replaceAll(',', '')));
}
