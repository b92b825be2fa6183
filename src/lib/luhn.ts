/** The Luhn check digit that every card number carries. */

export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let at = digits.length - 1, isDoubled = false; at >= 0; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return false;
    const weighed = isDoubled ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return digits.length > 0 && sum % 10 === 0;
}
