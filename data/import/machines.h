// Machines of clouds by their names (their makers' pages): GPUs, and network cards for training.
#pragma once

struct cloud_machine {
    const char *name, *gpu; // gpu: as costs call it
    int gpus, cards;
    double card_gbit; // one direction, of each card
    int network;      // enum nic_kind
};

// The machine that a text names, and where it first does; NULL: none, or several of them (*found).
const struct cloud_machine *cloud_machine_in(const char *text, const char **at, int *found);
// The number before a machine's name, "4 x p5.48xlarge", "2x `a3-highgpu-8g`"; 0: none.
int cloud_machines_before(const char *text, const char *at);
