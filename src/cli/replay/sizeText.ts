/** A number of bytes as people read it: `512 B`, `3.4 kB`, `1.2 GB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const unit = ['B', 'kB', 'MB', 'GB', 'TB'][power] ?? 'B';
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${unit}`;
}
