#!/usr/bin/env python3
"""Models of pictures with random weights in PyTorch, JPEG files in Pillow and log-mel frames in transformers: the peer of
`fovea bench vision`. One line of JSON in, one out.

    {"do": "version"}                                        -> {"torch_vision": "2.x", "pillow": "1x", "transformers": "5.x"}
    {"do": "open_model", "model": "vit|segformer", "size": S, "threads": N, …}          the shape's other numbers for vit
    {"do": "run", "pictures": B, "times": T}                 -> {"seconds": s}
    {"do": "open_training", …as open_model…}
    {"do": "train", "pictures": B, "times": T}               -> {"seconds": s, "loss": l}
    {"do": "open_conv", "in": C, "out": D, "kernel": K, "stride": S, "size": N, "pictures": B, "threads": T}
    {"do": "conv", "training": true|false, "times": T}       -> {"seconds": s}      with gradients of pictures and weights
    {"do": "make_jpeg", "path": FILE}                        a smooth picture with some noise, 640 x 480, quality 90
    {"do": "jpeg", "path": FILE, "pictures": B, "times": T}  -> {"seconds": s}      read, RGB, bilinear to 224 x 224
    {"do": "open_log_mel"}
    {"do": "log_mel", "seconds": S, "times": T}              -> {"seconds": s}      nothing padded beyond the sound

Best settings: scaled_dot_product_attention, inference mode, fused AdamW.
"""
import time

import numpy as np
import torch
import transformers
from serve import serve

transformers.logging.set_verbosity_error()


def made_model(job):
    if job["model"] == "vit":
        config = transformers.ViTConfig(hidden_size=job["width"], num_hidden_layers=job["layers"], num_attention_heads=job["heads"],
                                        intermediate_size=job["ffn"], image_size=job["size"], patch_size=job["patch"],
                                        num_channels=job["channels"], num_labels=1000 if job["size"] > 100 else 10,
                                        attn_implementation="sdpa")
        return transformers.ViTForImageClassification(config)
    return transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig(num_labels=150))


class Server:
    def version(self, _):
        import PIL
        return {"torch_vision": torch.__version__.split("+")[0], "pillow": PIL.__version__, "transformers": transformers.__version__}

    def open_model(self, job):
        torch.set_num_threads(job["threads"])
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        self.job, self.model = job, made_model(job).eval()
        return {}

    def pixels(self, pictures):
        size = self.job["size"]
        return torch.randn(pictures, self.job.get("channels", 3), size, size, generator=torch.Generator().manual_seed(1))

    def run(self, job):
        pixels = self.pixels(job["pictures"])
        with torch.inference_mode():
            start = time.perf_counter()
            for _ in range(job["times"]):
                self.model(pixel_values=pixels)
            return {"seconds": time.perf_counter() - start}

    def open_training(self, job):
        self.open_model(job)
        self.model.train()
        self.adam = torch.optim.AdamW(self.model.parameters(), lr=1e-5, fused=True)
        return {}

    def train(self, job):
        pixels, n = self.pixels(job["pictures"]), job["pictures"]
        if self.job["model"] == "vit":
            labels = torch.arange(n) % 10
        else:
            labels = (torch.arange(n * self.job["size"] ** 2) % 150).view(n, self.job["size"], self.job["size"])
        start = time.perf_counter()
        for _ in range(job["times"]):
            self.adam.zero_grad(set_to_none=True)
            loss = self.model(pixel_values=pixels, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.adam.step()
        return {"seconds": time.perf_counter() - start, "loss": loss.item()}

    def open_conv(self, job):
        torch.set_num_threads(job["threads"])
        torch.set_flush_denormal(True)
        torch.manual_seed(1)
        made = lambda *sizes: (0.1 * torch.randn(*sizes)).contiguous(memory_format=torch.channels_last)
        k = job["kernel"]
        self.layer = torch.nn.Conv2d(job["in"], job["out"], k, job["stride"], k // 2).to(memory_format=torch.channels_last)
        self.x = made(job["pictures"], job["in"], job["size"], job["size"])
        self.dy = torch.randn_like(self.layer(self.x))
        return {}

    def conv(self, job):
        x = self.x.detach().requires_grad_(job["training"])
        start = time.perf_counter()
        for _ in range(job["times"]):
            if job["training"]:
                self.layer.zero_grad(set_to_none=True)
                x.grad = None
                self.layer(x).backward(self.dy)
            else:
                with torch.inference_mode():
                    self.layer(x)
        return {"seconds": time.perf_counter() - start}

    def make_jpeg(self, job):
        from PIL import Image
        random = np.random.default_rng(1)
        y, x = np.mgrid[0:480, 0:640]
        waves = np.stack([np.sin(x / 40 + c) * np.cos(y / 30 - c) for c in range(3)], -1)
        values = np.clip(128 + 90 * waves + 8 * random.standard_normal((480, 640, 3)), 0, 255)
        Image.fromarray(values.astype(np.uint8)).save(job["path"], "JPEG", quality=90)
        return {}

    def jpeg(self, job):
        from PIL import Image
        start = time.perf_counter()
        for _ in range(job["times"] * job["pictures"]):
            with Image.open(job["path"]) as picture:
                picture.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
        return {"seconds": time.perf_counter() - start}

    def open_log_mel(self, job):
        torch.set_num_threads(job["threads"])
        self.extractor = transformers.WhisperFeatureExtractor()
        return {}

    def log_mel(self, job):
        sound = (0.1 * np.random.default_rng(1).standard_normal(job["seconds"] * 16000)).astype(np.float32)
        start = time.perf_counter()
        for _ in range(job["times"]):
            self.extractor(sound, sampling_rate=16000, padding="longest", truncation=False, return_tensors="np")
        return {"seconds": time.perf_counter() - start}


if __name__ == "__main__":
    serve(Server())
