/** Prevents the submission of the second click of a double click, which is meant as one. */
export function notTwice(click: MouseEvent): void {
  if (click.detail > 1) click.preventDefault();
}
