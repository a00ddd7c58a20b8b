/** The second click of a double click submits nothing: whoever makes it means one submission. */
export function notTwice(click: MouseEvent): void {
  if (click.detail > 1) click.preventDefault();
}
