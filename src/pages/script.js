// The one script of the payer's pages. They work without it; it only makes them quicker and kinder.
(() => {
  const { body } = document;
  const language = document.documentElement.lang;
  const all = (selector) => [...document.querySelectorAll(selector)];
  // Who has come back by the back button wants to be here: no page leads them on by itself.
  let isBack =
    performance.getEntriesByType('navigation')[0]?.type === 'back_forward' || /returned=back/.test(location.search);
  const again = () => location.replace(location.pathname + (isBack ? '?returned=back' : location.search));
  const announce = (text) => {
    document.getElementById('said').textContent = text;
  };

  // Digits are digits, in whichever script they are typed.
  const digitsOf = (text) => text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => digit.charCodeAt(0) & 15).replace(/\D/g, '');

  // Writes a tidier text into an input and leaves the caret behind the same digit.
  const write = (input, text) => {
    const before = digitsOf(input.value.slice(0, input.selectionStart)).length;
    const isAtEnd = input.selectionStart === input.value.length;
    input.value = text;
    let caret = 0;
    for (let seen = 0; seen < before && caret < text.length; caret++) if (/\d/.test(text[caret])) seen++;
    if (isAtEnd) caret = text.length;
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  };

  const tidy = {
    number(input) {
      const digits = digitsOf(input.value).slice(0, 19);
      const groups = /^3[47]/.test(digits) ? /^(\d{1,4})(\d{1,6})?(\d+)?/ : /\d{1,4}/g;
      const parts = digits.match(groups) ?? [];
      write(input, (groups.global ? parts : parts.slice(1).filter(Boolean)).join(' '));
      const networks = JSON.parse(input.dataset.networks);
      const name = networks.find(([, prefix]) => new RegExp(prefix).test(digits))?.[0] ?? '';
      const badge = document.getElementById('network');
      if (badge.textContent !== name) badge.textContent = name;
    },
    expiry(input, event) {
      if (event.inputType?.startsWith('delete')) return;
      let digits = digitsOf(input.value).slice(0, 6);
      if (/^[2-9]|^1[3-9]/.test(digits)) digits = `0${digits}`;
      write(input, digits.length < 2 ? digits : `${digits.slice(0, 2)}/${digits.slice(2)}`);
    },
    cvv(input) {
      write(input, digitsOf(input.value).slice(0, 4));
    },
  };

  const isLuhnValid = (digits) =>
    [...digits].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * ((index % 2) + 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0) %
      10 ===
    0;

  const isRight = {
    number: (text) => /^\d{12,19}$/.test(digitsOf(text)) && isLuhnValid(digitsOf(text)),
    expiry: (text) => /^\s*(0?[1-9]|1[0-2])\s*\/\s*(20)?\d\d\s*$/.test(text),
    cvv: (text) => /^\d{3,4}$/.test(text.trim()),
    holder: (text) => text.trim().length > 1,
  };

  const problemOf = (input) => {
    if (input.offsetParent === null) return '';
    const check = isRight[input.dataset.check];
    const isBlank = input.value.trim() === '';
    if (check?.(input.value)) return '';
    const { wrong, blank = wrong ?? input.form.dataset.blank } = input.dataset;
    return isBlank ? blank : (wrong ?? '');
  };

  const mark = (input, problem) => {
    const place = document.getElementById(`${input.id}-error`);
    place.textContent = problem;
    place.hidden = problem === '';
    if (problem) input.setAttribute('aria-invalid', 'true');
    else input.removeAttribute('aria-invalid');
  };
  // Says beside the input what is wrong with it, if anything.
  const isWrong = (input) => {
    const problem = problemOf(input);
    mark(input, problem);
    return problem !== '';
  };

  const press = (form, isBusy) => {
    const button = form.querySelector('button');
    const words = button.dataset.words ?? button.textContent;
    button.dataset.words = words;
    button.textContent = isBusy ? form.dataset.busy : words;
    button.disabled = isBusy;
    form.toggleAttribute('data-sent', isBusy);
    form.setAttribute('aria-busy', isBusy);
  };

  const inputs = all('form[data-busy] [required]');
  for (const input of inputs) {
    const { check } = input.dataset;
    input.addEventListener('input', (event) => {
      tidy[check]?.(input, event);
      if (input.hasAttribute('aria-invalid')) isWrong(input);
    });
    // Only on the way to another input: a page that moves while a button is pressed makes the press miss it.
    input.addEventListener('blur', ({ relatedTarget }) => {
      if (relatedTarget?.matches('input, select') && input.value.trim() !== '') isWrong(input);
    });
    if (check === 'number' && input.value) tidy.number(input);
  }
  const targetOf = (element) => element.getAttribute('target') ?? '';
  const forms = all('form[data-busy]');
  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      if (form.hasAttribute('data-sent')) return event.preventDefault();
      const wrong = inputs.filter(isWrong);
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0].focus();
      } else if (/^(_self|_top|_parent)?$/.test(targetOf(form))) {
        press(form, true);
        // Whatever has stopped it, the payer can press again; the server takes it for the same press.
        setTimeout(press, 30000, form, false);
      }
    });
  }
  // A page that is left keeps nothing of what was typed, in case the browser keeps the page.
  addEventListener('pagehide', () => {
    for (const input of inputs) {
      input.value = '';
      mark(input, '');
    }
    for (const input of all('[data-networks]')) tidy.number(input);
    for (const notice of all('[data-marks]')) notice.hidden = true;
  });

  // What leads on does so by itself, but not for who does something else; a new window opens only for who presses.
  const onward = document.querySelector('[data-go]');
  if (onward && !isBack && targetOf(onward) !== '_blank') {
    const tell = (isGoing) => {
      for (const words of all('[data-with-go]')) words.hidden = !isGoing;
    };
    const go = () => (onward.requestSubmit ? onward.requestSubmit() : onward.click());
    const going = setTimeout(go, onward.dataset.go * 1000);
    tell(true);
    for (const kind of ['keydown', 'pointerdown', 'pagehide']) {
      addEventListener(kind, () => {
        clearTimeout(going);
        tell(false);
      });
    }
  }

  // Times run down before the payer's eyes, and are spoken of once.
  const opened = Date.now();
  const two = (number) => number.toLocaleString(language, { minimumIntegerDigits: 2, useGrouping: false });
  const clocks = all('[data-left]');
  const tick = () => {
    for (const clock of clocks) {
      const left = Math.max(0, Math.round(clock.dataset.left - (Date.now() - opened) / 1000));
      if (left < 3600) clock.textContent = `${two(Math.floor(left / 60))}:${two(left % 60)}`;
      if (left <= 60 && clock.dataset.soon) {
        announce(clock.dataset.soon);
        delete clock.dataset.soon;
      }
      if (left === 0) return again();
    }
    setTimeout(tick, 1000);
  };
  if (clocks.length > 0) tick();

  // The page follows the payment: while it waits all the time, otherwise whenever it is looked at again.
  const { status, version, waits } = body.dataset;
  let pause = 2000;
  let timer;
  let isLooking = false;
  const look = async () => {
    if (document.hidden || isLooking) return;
    isLooking = true;
    try {
      const answer = await fetch(status, { cache: 'no-store', signal: AbortSignal.timeout?.(10000) });
      if (answer.ok && (await answer.json()).version !== version) return again();
    } catch {
      // The line is down for a moment; the next look may find it up.
    }
    isLooking = false;
    clearTimeout(timer);
    if (waits !== undefined) timer = setTimeout(look, pause);
    pause = Math.min(pause * 1.2, 15000);
  };
  const lookNow = () => {
    clearTimeout(timer);
    pause = 2000;
    if (status) look();
  };
  if (waits !== undefined) timer = setTimeout(look, pause);
  document.addEventListener('visibilitychange', lookNow);
  addEventListener('focus', lookNow);
  // Who comes back by the back button finds a button that can be pressed, or what became of the payment meanwhile.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    for (const form of forms) press(form, false);
    isBack = true;
    isLooking = false;
    lookNow();
  });

  // An account number goes into another app without being typed.
  const copies = all('[data-copied]');
  for (const button of copies) {
    const { copy, copied } = button.dataset;
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      const place = button.parentElement.nextElementSibling;
      // What is said twice is heard twice only when it was gone in between.
      announce('');
      try {
        await navigator.clipboard.writeText(place.textContent);
        for (const each of copies) {
          each.textContent = each === button ? copied : copy;
          each.ariaLabel = `${each.textContent}: ${each.previousSibling.data}`;
        }
        announce(button.ariaLabel);
      } catch {
        // In a frame it may be forbidden; what is selected can be copied by hand.
        getSelection().selectAllChildren(place);
      }
    });
  }
})();
