<?php

/** One step of a shop with the WooCommerce example: stand-ins of WordPress, an order in a file, and JSON as output. */

declare(strict_types=1);

const ABSPATH = '/';

[, $step, $file] = $argv;
$shop = json_decode((string) file_get_contents($file), true, 16, JSON_THROW_ON_ERROR);
$outcome = ['status' => null, 'notices' => [], 'answer' => null];
$actions = [];

class WP_Error
{
    public function __construct(public string $code, public string $message)
    {
    }
}

class WC_Payment_Gateway
{
    public string $id = '';
    public string $title = '';
    public string $method_title = '';
    public string $method_description = '';
    public bool $has_fields = false;
    /** @var list<string> */
    public array $supports = [];
    /** @var array<string, array<string, string>> */
    public array $form_fields = [];

    public function init_settings(): void
    {
    }

    public function process_admin_options(): void
    {
    }

    public function get_option(string $name): string
    {
        global $shop;
        return $shop['settings'][$name] ?? $this->form_fields[$name]['default'];
    }

    public function get_return_url(WC_Order $order): string
    {
        return 'https://shop.example/thanks?order=' . $order->get_id();
    }
}

final class WC_Order
{
    /** @param array<string, mixed> $row */
    public function __construct(private array &$row)
    {
    }

    public function __call(string $name, array $arguments): mixed
    {
        return $this->row[substr($name, 4)];
    }

    public function get_cancel_order_url_raw(): string
    {
        return 'https://shop.example/cart';
    }

    public function get_meta(string $name): string
    {
        return $this->row['meta'][$name] ?? '';
    }

    public function update_meta_data(string $name, string $value): void
    {
        $this->row['meta'][$name] = $value;
    }

    public function add_order_note(string $note): void
    {
        $this->row['notes'][] = $note;
    }

    public function update_status(string $status, string $note): void
    {
        $this->row['status'] = $status;
        $this->row['notes'][] = $note;
    }

    public function is_paid(): bool
    {
        return in_array($this->row['status'], ['processing', 'completed'], true);
    }

    public function payment_complete(string $transaction): void
    {
        $this->row['status'] = 'processing';
        $this->row['completions'][] = $transaction;
    }

    public function save(): void
    {
        global $shop, $file;
        file_put_contents($file, json_encode($shop, JSON_THROW_ON_ERROR));
    }
}

/** The body of the request, which a web server would pass to PHP. */
final class RequestBody
{
    public mixed $context;
    private int $at = 0;

    public function stream_open(string $path): bool
    {
        return $path === 'php://input';
    }

    public function stream_read(int $count): string
    {
        global $shop;
        $part = substr(base64_decode($shop['request']['body']), $this->at, $count);
        $this->at += strlen($part);
        return $part;
    }

    public function stream_eof(): bool
    {
        global $shop;
        return $this->at >= strlen(base64_decode($shop['request']['body']));
    }

    public function stream_stat(): array
    {
        return [];
    }
}

function add_action(string $name, callable $handler): void
{
    global $actions;
    $actions[$name] = $handler;
}

function add_filter(string $name, callable $handler): void
{
    add_action($name, $handler);
}

function wc_get_order(int $id): WC_Order|false
{
    global $shop;
    if (!isset($shop['orders'][$id])) {
        return false;
    }
    return new WC_Order($shop['orders'][$id]);
}

function wc_get_price_decimals(): int
{
    return 2;
}

function wc_format_decimal(string|float $number, int $decimals): string
{
    return number_format((float) $number, $decimals, '.', '');
}

function wc_add_notice(string $text): void
{
    global $outcome;
    $outcome['notices'][] = $text;
}

function status_header(int $status): void
{
    global $outcome;
    $outcome['status'] = $status;
}

register_shutdown_function(function (): void {
    global $outcome;
    echo "\n", json_encode($outcome, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES), "\n";
});

require $shop['plugin'] . '/turnpike-gateway.php';
$actions['plugins_loaded']();
$gateways = $actions['woocommerce_payment_gateways']([]);
$gateway = new $gateways[0]();

if ($step === 'pay') {
    $outcome['answer'] = $gateway->process_payment(17);
} elseif ($step === 'refund') {
    $answer = $gateway->process_refund(17, $shop['refund']);
    $outcome['answer'] = $answer === true ? true : $answer->message;
} elseif ($step === 'callback') {
    foreach ($shop['request']['headers'] as $name => $value) {
        $key = strtoupper(str_replace('-', '_', $name));
        $_SERVER[$key === 'CONTENT_TYPE' ? $key : "HTTP_$key"] = $value;
    }
    stream_wrapper_unregister('php');
    stream_wrapper_register('php', RequestBody::class);
    $actions['woocommerce_api_turnpike']();
}
