"""Writes a model directory in a published shape with random weights: python3 bench/torch/make.py SHAPE FOLDER"""

import os
import sys

import torch
from shapes import config_of
from transformers import AutoModelForCausalLM

if __name__ == "__main__":
    shape, folder = sys.argv[1:3]
    torch.manual_seed(0)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForCausalLM.from_config(config_of(shape), dtype=torch.bfloat16)
    model.save_pretrained(folder)
    print(os.path.abspath(folder))
